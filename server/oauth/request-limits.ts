import type { RequestHandler } from 'express';
import { limitRate } from '../http/index.ts';
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
