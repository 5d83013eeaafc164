/** The data folder of `--demo`: beside the one that the settings name. */
export const demoFolderOf = (dataDir: string): string => `${dataDir}-demo`;
