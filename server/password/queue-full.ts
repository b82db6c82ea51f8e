import type { Response } from 'express';
import { HttpError, setRetryAfter } from '../http/index.ts';
import { PasswordQueueFullError } from './queue.ts';

/** What is answered while too many passwords are being hashed already, as the configuration has it. */
export interface QueueFullAnswer {
  status: number;
  retrySeconds: number;
}

/** Too many passwords are being hashed already; `status` is what the answer has. */
export interface Busy {
  kind: 'busy';
  status: number;
}

/** A caller's own share is full: whatever a full queue answers, that is too many requests (RFC 6585, section 4). */
const toStatus = ({ reason }: PasswordQueueFullError, { status }: QueueFullAnswer) =>
  reason === 'share' ? 429 : status;

/** Runs what hashes a password, for a page. When too many wait already, the answer says by then when to try again. */
export async function hashForPage<V>(
  res: Response,
  { queueFull }: { queueFull: QueueFullAnswer },
  act: () => Promise<V>,
): Promise<V | Busy> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFullError)) throw error;
    setRetryAfter(res, queueFull.retrySeconds * 1000);
    return { kind: 'busy', status: toStatus(error, queueFull) };
  }
}

/**
 * The same for a call of the JSON API.
 * @throws {HttpError} `busy` (503) or `tooMany` (429) when too many wait already
 */
export async function hashForApi<V>({ queueFull }: { queueFull: QueueFullAnswer }, act: () => Promise<V>): Promise<V> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PasswordQueueFullError)) throw error;
    throw new HttpError(toStatus(error, queueFull) === 429 ? 'tooMany' : 'busy', {
      detail: error.message,
      retryAfterSeconds: queueFull.retrySeconds,
    });
  }
}
