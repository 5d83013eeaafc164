/**
 * Points by WebGL 2: one buffer of places, one of colours, one draw call a frame. Moving the map changes two uniforms only. While it moves, every
 * n-th point is drawn, so that drawing by software keeps up, too; points lie in the buffer in random order, so that what is left looks the same.
 */
export interface Camera {
  /** The map position at the centre of the view. */
  x: number;
  y: number;
  /** CSS pixels per map unit. */
  scale: number;
}

const vertexShader = `#version 300 es
in vec2 place;
in vec4 color;
uniform vec2 offset;
uniform vec2 scale;
uniform float size;
out vec4 tint;
void main() {
  gl_Position = vec4((place - offset) * scale, 0.0, 1.0);
  gl_PointSize = size * (color.a > 0.9 ? 1.25 : 1.0);
  tint = color;
}`;

const fragmentShader = `#version 300 es
precision mediump float;
in vec4 tint;
out vec4 shown;
void main() {
  float far = length(gl_PointCoord - 0.5);
  float cover = tint.a * (1.0 - smoothstep(0.38, 0.5, far));
  if (cover < 0.01) discard;
  shown = vec4(tint.rgb * cover, cover);
}`;

/** Max points drawn while the map moves. */
const maxWhileMoving = 20_000;

export interface PointDrawing {
  /** Colours of the points in order (red, green, blue, opacity; 0 to 255), and the points drawn above the others. */
  color: (colors: Uint8Array, above: readonly number[]) => void;
  draw: (camera: Camera, isMoving: boolean) => void;
  dispose: () => void;
}

/** `places`: x and y of each point, in random order. Null if the browser has no WebGL 2. */
export function drawPoints(canvas: HTMLCanvasElement, places: Float32Array): PointDrawing | null {
  const gl = canvas.getContext('webgl2', { antialias: false, alpha: true, premultipliedAlpha: true });
  if (gl === null) return null;
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, vertexShader],
    [gl.FRAGMENT_SHADER, fragmentShader],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) return null;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return null;
  gl.useProgram(program);
  const attribute = (name: string, data: Float32Array | Uint8Array, size: number, type: number, isColor: boolean) => {
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const at = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, type, isColor, 0, 0);
    return buffer;
  };
  const count = places.length / 2;
  const placeBuffer = attribute('place', places, 2, gl.FLOAT, false);
  const colorBuffer = attribute('color', new Uint8Array(count * 4), 4, gl.UNSIGNED_BYTE, true);
  const [offset, scale, size] = ['offset', 'scale', 'size'].map((name) => gl.getUniformLocation(program, name));
  const aboveBuffer = gl.createBuffer();
  let aboveCount = 0;
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return {
    color: (colors, above) => {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, aboveBuffer);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, Uint32Array.from(above), gl.STATIC_DRAW);
      aboveCount = above.length;
      gl.bindBuffer(gl.ARRAY_BUFFER, colorBuffer);
      gl.bufferData(gl.ARRAY_BUFFER, colors, gl.STATIC_DRAW);
    },
    draw: (camera, isMoving) => {
      const ratio = Math.min(devicePixelRatio, 2);
      const [width, height] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
      if (canvas.width !== width || canvas.height !== height) {
        canvas.width = width;
        canvas.height = height;
      }
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(offset, camera.x, camera.y);
      gl.uniform2f(scale, (2 * camera.scale) / canvas.clientWidth, (2 * camera.scale) / canvas.clientHeight);
      gl.uniform1f(size, sizeOf(count, camera.scale) * ratio);
      gl.drawArrays(gl.POINTS, 0, isMoving ? Math.min(count, maxWhileMoving) : count);
      if (aboveCount > 0 && !isMoving) gl.drawElements(gl.POINTS, aboveCount, gl.UNSIGNED_INT, 0);
    },
    dispose: () => {
      gl.deleteBuffer(placeBuffer);
      gl.deleteBuffer(colorBuffer);
      gl.deleteBuffer(aboveBuffer);
      gl.deleteProgram(program);
    },
  };
}

/** Point size: large for few points, and a little larger with zoom. */
function sizeOf(count: number, scale: number): number {
  const base = count > 50_000 ? 2.2 : count > 10_000 ? 3 : count > 2000 ? 4.2 : 6;
  return Math.min(base * Math.max(1, (scale / 400) ** 0.35), 16);
}
