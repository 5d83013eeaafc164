/**
 * Gives the memory of buffers back at once. Bytes outside of V8's heap are free only after a collection otherwise, and V8 lets tens of
 * megabytes of them gather before it looks. A buffer that is sent to a closed port is detached and dropped; nothing else that Node 20
 * has does that (`ArrayBuffer.prototype.transfer` came with Node 21).
 */
import { MessageChannel } from 'node:worker_threads';

const { port1, port2 } = new MessageChannel();
port1.close();
port2.close();

/**
 * Detach the buffers that these chunks, which do not overlap, fill together; one that they leave a part of stays, for somebody may be
 * writing there. Nobody may look at the chunks after.
 */
export function freeMemory(chunks: readonly Uint8Array<ArrayBuffer>[]): void {
  const filled = new Map<ArrayBuffer, number>();
  for (const { buffer, byteLength } of chunks) filled.set(buffer, (filled.get(buffer) ?? 0) + byteLength);
  const whole = [...filled].filter(([buffer, bytes]) => bytes === buffer.byteLength);
  port1.postMessage(
    null,
    whole.map(([buffer]) => buffer),
  );
}
