/** Backups as the service tells of them. */
import { z } from 'zod';
import { datetime } from './ids.ts';

export const backupResponse = z.strictObject({
  dir: z.string().describe('its folder, for `readback restore`'),
  taken_at: datetime,
  pages: z.int(),
  bytes: z.int(),
});
export type BackupResponse = z.infer<typeof backupResponse>;

export const backupListResponse = z.strictObject({
  dir: z.string().describe('the folder that backups are made in'),
  backups: z.array(backupResponse),
  running: z.boolean(),
});
export type BackupListResponse = z.infer<typeof backupListResponse>;
