export function TopicsView() {
  return <h1>Topics</h1>;
}
