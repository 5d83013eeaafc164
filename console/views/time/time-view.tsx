export function TimeView() {
  return <h1>Time</h1>;
}
