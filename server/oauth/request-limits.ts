import type { RequestHandler } from 'express';
import { errors, type Interaction } from 'oidc-provider';
import { countedNetworks, HttpError, limitRate } from '../http/index.ts';
import type { KeyValueStore } from '../store/index.ts';
import { routes } from './routes-table.ts';

const minuteMs = 60_000;

/** Pushed requests from one address in a minute: a client app's one server pushes for all of its members. */
export const pushedRequestsAMinute = 1_200;
/** Sign-ins that devices behind one address may ask for in a minute: every one waits there with a code to be guessed. */
export const deviceRequestsAMinute = 60;

/** What stands before those of the provider's routes that keep something for whoever asks. */
export function requestLimits(kv: KeyValueStore): [path: string, limit: RequestHandler][] {
  return [
    [
      routes.pushed_authorization_request,
      limitRate(kv, { name: 'pushed-requests', limit: pushedRequestsAMinute, windowMs: minuteMs }),
    ],
    [
      routes.device_authorization,
      limitRate(kv, { name: 'device-requests', limit: deviceRequestsAMinute, windowMs: minuteMs }),
    ],
  ];
}

/** Authorization requests of visitors from one address in a minute: a whole company may sit behind it. */
export const visitorsRequestsAMinute = 600;

/**
 * Counts an authorization request of somebody who is not signed in: each is kept until its hour is over. Members are known, and
 * their requests are mostly answered at once.
 * @throws {HttpError} tooMany
 */
export async function admitVisitor(kv: KeyValueStore, address: string): Promise<void> {
  for (const { network, times } of countedNetworks(address)) {
    const { count, expiresInMs } = await kv.increment(`rate:authorize:${network}`, minuteMs);
    if (count <= visitorsRequestsAMinute * times) continue;
    const retryAfterSeconds = Math.max(1, Math.ceil(expiresInMs / 1000));
    throw new HttpError('tooMany', { detail: 'authorization requests of one network', retryAfterSeconds });
  }
}

/** Authorization requests of one member in a minute that ask something of them, and are kept for it. */
export const membersQuestionsAMinute = 120;

/**
 * Counts an authorization request that waits for a member who is signed in; what is answered in silence never comes here.
 * @throws {errors.CustomOIDCProviderError} which the client app is told
 */
export async function admitQuestion(
  kv: KeyValueStore,
  member: string,
  interaction: Pick<Interaction, 'destroy'>,
): Promise<void> {
  const { count } = await kv.increment(`rate:authorize:member:${member}`, minuteMs);
  if (count <= membersQuestionsAMinute) return;
  await interaction.destroy();
  throw new errors.CustomOIDCProviderError('temporarily_unavailable', 'too many requests of this End-User');
}
