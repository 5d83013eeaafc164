/** Reads pages without their text. */
import type { PageResponse } from '../../src/domain/page.ts';
import { ApiError, get } from './client.ts';

/** Null if it is no longer in the library. */
export async function pageOf(id: string, signal?: AbortSignal): Promise<PageResponse | null> {
  try {
    return await get<PageResponse>(`/v1/pages/${encodeURIComponent(id)}`, { offset: 0, length: 1 }, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
