import { HttpError, type HttpExchange, setRetryAfter } from '../http/index.ts';
import { PasswordQueueFullError } from './queue.ts';

/** The configured answer while too many passwords wait to be hashed. */
export interface QueueFullAnswer {
  status: number;
  retrySeconds: number;
}

/** Too many passwords wait to be hashed; `status` is that of the answer. */
export interface Busy {
  kind: 'busy';
  status: number;
}

/** The caller's own share is used up: too many requests, whatever a full queue answers (RFC 6585, section 4). */
const toStatus = ({ reason }: PasswordQueueFullError, { status }: QueueFullAnswer) =>
  reason === 'share' ? 429 : status;

/** Runs work with password hashing, for a page. If too many wait already, the answer has set Retry-After by then. */
export async function hashForPage<V>(
  { res }: Pick<HttpExchange, 'res'>,
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
 * @throws {HttpError} `busy` (503) or `tooMany` (429) if too many wait already
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
