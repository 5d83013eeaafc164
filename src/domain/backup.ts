import { z } from 'zod';
import { datetime } from './values.ts';

export const backupResponse = z.strictObject({
  dir: z.string().describe('its folder, for `readback restore`'),
  taken_at: datetime,
  pages: z.int(),
  bytes: z.int(),
});
export type BackupResponse = z.infer<typeof backupResponse>;

export const newBackupResponse = backupResponse.extend({
  removed: z.array(z.string()).describe('folders of older backups that were deleted after it, and of unfinished ones'),
});
export type NewBackupResponse = z.infer<typeof newBackupResponse>;

export const backupListResponse = z.strictObject({
  dir: z.string().describe('the folder that backups are made in'),
  backups: z.array(backupResponse),
  running: z.boolean(),
});
export type BackupListResponse = z.infer<typeof backupListResponse>;
