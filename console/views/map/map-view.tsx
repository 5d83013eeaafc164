export function MapView() {
  return <h1>Map</h1>;
}
