/** Where programs beside the service keep what they need between two runs (XDG Base Directory Specification). */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

export function stateDir(env: NodeJS.ProcessEnv): string {
  const set = env.XDG_STATE_HOME;
  return join(set !== undefined && isAbsolute(set) ? set : join(env.HOME || homedir(), '.local/state'), 'readback');
}
