import type { Response } from 'express';
import { HttpError } from '../http/index.ts';
import { PasswordQueueFull } from './queue.ts';

/** What is answered while too many passwords are being hashed already, as the configuration has it. */
export interface QueueFull {
  status: number;
  retrySeconds: number;
}

/** Runs what hashes a password, for a page; undefined when too many wait already: the answer says by then when to try again. */
export async function unlessBusy<V>(
  res: Response,
  { queueFull }: { queueFull: QueueFull },
  act: () => Promise<V>,
): Promise<V | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFull)) throw error;
    res.setHeader('Retry-After', String(queueFull.retrySeconds));
    return undefined;
  }
}

/**
 * The same for a call of the JSON API.
 * @throws {HttpError} `busy` (503) or `tooMany` (429) when too many wait already
 */
export async function hashing<V>({ queueFull }: { queueFull: QueueFull }, act: () => Promise<V>): Promise<V> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFull)) throw error;
    throw new HttpError(queueFull.status === 429 ? 'tooMany' : 'busy', {
      detail: error.message,
      retryAfterSeconds: queueFull.retrySeconds,
    });
  }
}
