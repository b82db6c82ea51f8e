import type { Request, Response } from 'express';
import { getRequestOrigin, type Logger, resolveLanguage, translator } from '../http/index.ts';
import { type Outbox, whence } from '../messages/index.ts';
import { sha256 } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { recordSignIn, type User } from '../users/index.ts';
import type { KnownDevices } from './known-devices.ts';
import type { ReturningBrowsers } from './returning-browser.ts';
import type { StartedSession } from './session-hooks.ts';

interface Settings {
  knownDevices: KnownDevices;
  returning: ReturningBrowsers;
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  log: Logger;
  now: () => number;
}

/** The device of a sign-in. */
export interface DeviceRecognition extends Pick<KnownDevices, 'recognise' | 'findLastUser' | 'toMark'> {
  /**
   * The browser has proven access to the mailbox and set a new password, so it becomes a known device. The mail about
   * the password replaces the mail about the device.
   */
  trust(req: Request, res: Response, user: User): Promise<void>;
}

/** They follow a sign-in; `wiring.ts` lists both. */
interface DeviceSubscribers {
  rememberDevice(started: StartedSession): Promise<void>;
  /** Mails about a sign-in from a new device. */
  notifyNewDevice(started: StartedSession): Promise<void>;
}

/** A browser without cookies appears as a new device at each sign-in. */
const silentMs = 60 * 60_000;

export function createDeviceRecognition(settings: Settings): DeviceRecognition & DeviceSubscribers {
  const { knownDevices, returning, database, kv, outbox, log, now } = settings;

  /** The first sign-in with a password sends no mail: the user has just signed up, or got the mail about the password. */
  async function mailNewDevice(req: Request, user: User): Promise<void> {
    if (await recordSignIn(database.db, user)) return;
    const lang = resolveLanguage(req.get('accept-language'), user.locale ?? undefined);
    const { device, address } = whence(lang, getRequestOrigin(req));
    const notified = `new-device:${sha256(JSON.stringify([user.id, device, address]))}`;
    if (!(await kv.setIfAbsent(notified, '1', silentMs))) return;
    try {
      await database.transaction(async (trx) => {
        await outbox.add(trx, {
          channel: 'mail',
          to: user.email,
          template: 'new-device',
          lang,
          values: { givenName: user.givenName, atMs: now(), device, address, hasPassword: user.passwordHash !== null },
        });
        await outbox.add(trx, {
          channel: 'notification',
          userId: user.id,
          title: translator(lang)('mail.newDevice.title'),
          description: `${device} · ${address}`,
          category: 'account',
          security: true,
        });
      });
    } catch (error) {
      await kv.delete(notified);
      throw error;
    }
    outbox.wake();
  }

  function remember(req: Request, res: Response, user: User): void {
    knownDevices.remember(req, res, user);
    returning.mark(req, res);
  }

  return {
    recognise: knownDevices.recognise,
    findLastUser: knownDevices.findLastUser,
    toMark: knownDevices.toMark,
    async trust(req, res, user) {
      remember(req, res, user);
      // From now on a sign-in from another device is not the first with this password, so it sends a mail.
      await recordSignIn(database.db, user);
    },
    rememberDevice: async ({ req, res, user }) => remember(req, res, user),
    async notifyNewDevice({ req, user }) {
      // By the cookie of the request, which the answer does not change.
      if (knownDevices.recognise(req, user) !== undefined) return;
      // A failed mail must not fail the sign-in.
      await mailNewDevice(req, user).catch((error: unknown) =>
        log.error({ err: error }, 'could not mail about a new device'),
      );
    },
  };
}
