#!/usr/bin/env node
/** The `readback` process: handles Ctrl-C and a closed output pipe. */
import { onStopSignal } from '../stop-signal.ts';
import { CliError, exitCodes } from './output.ts';
import { run } from './run.ts';

const interruption = new AbortController();
/** The first Ctrl-C stops the command in order; the second ends the process at once. */
function onInterrupt(): void {
  onStopSignal({
    signals: ['SIGINT'],
    stop: () => interruption.abort(new CliError(exitCodes.interrupted, 'interrupted')),
    leave: (signal) => {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  });
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.done); // the reader closed the pipe
  throw error;
});

const { argv, env, stdin, stdout, stderr } = process;
const code = await run({
  args: argv.slice(2),
  ...{ env, stdin, stdout, stderr },
  signal: interruption.signal,
  onCommand: onInterrupt,
  serve: async ({ demo }) => {
    // The service process parses its own arguments.
    argv.splice(2, argv.length, ...(demo ? ['--demo'] : []));
    await import('../main.ts');
  },
});
if (code !== undefined) process.exitCode = code;
