/**
 * Gives the memory of buffers back at once. Bytes outside of V8's heap are free only after a collection otherwise, and V8 lets tens of
 * megabytes of them gather before it looks. A buffer that is sent to a closed port is detached and dropped; nothing else that Node 20
 * has does that (`ArrayBuffer.prototype.transfer` came with Node 21).
 */
import { MessageChannel } from 'node:worker_threads';

const { port1, port2 } = new MessageChannel();
port1.close();
port2.close();

/** Those that are all of their memory; a part of something larger stays, for somebody may be writing the rest. Nobody may look at them after. */
export function freeMemory(chunks: readonly Uint8Array<ArrayBuffer>[]): void {
  const whole = chunks.map(({ buffer, byteLength }) => (byteLength === buffer.byteLength ? buffer : null));
  port1.postMessage(null, [...new Set(whole.filter((buffer) => buffer !== null))]);
}
