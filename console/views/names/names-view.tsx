export function NamesView() {
  return <h1>Names</h1>;
}
