import { cpus, loadavg, totalmem } from 'node:os';

/** What a bench ran on, and how busy it was when this was asked: part of every report. */
export function describeMachine() {
  return {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_gb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    load_average: loadavg().map((load) => Math.round(load * 100) / 100),
  };
}
