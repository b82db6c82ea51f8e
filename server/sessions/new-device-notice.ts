import type { Request, Response } from 'express';
import { type Logger, resolveLanguage } from '../http/index.ts';
import { type Outbox, whence } from '../messages/index.ts';
import { sha256 } from '../shared/index.ts';
import type { Database, KeyValueStore } from '../store/index.ts';
import { recordSignIn, type User } from '../users/index.ts';
import type { KnownDevices } from './known-devices.ts';
import { getRequestOrigin } from './request-origin.ts';

interface Settings {
  database: Database;
  kv: KeyValueStore;
  outbox: Outbox;
  log: Logger;
  now: () => number;
}

/** What a way to sign in does about the device that it was on. */
export interface DeviceRecognition extends Pick<KnownDevices, 'recognise'> {
  /** Before the answer is sent. */
  remember(req: Request, res: Response, user: User): Promise<void>;
  /**
   * The browser has proved the member's mailbox and set a new password: from now on it is a known device of that password.
   * The member has a mail about the password, so there is none about the device.
   */
  trust(req: Request, res: Response, user: User): Promise<void>;
}

/** A browser that keeps no cookies is new each time. */
const silentMs = 60 * 60_000;

/**
 * Known devices whose members are told by mail of a sign-in from one that is not. Not of the first one with a password:
 * they have just signed up, or have had the mail about the change.
 */
export function createNewDeviceNotifier(devices: KnownDevices, settings: Settings): DeviceRecognition {
  const { database, kv, outbox, log, now } = settings;

  async function notifyNewDevice(req: Request, user: User): Promise<void> {
    if (await recordSignIn(database.db, user)) return;
    const lang = resolveLanguage(req.get('accept-language'), user.locale ?? undefined);
    const { device, address } = whence(lang, getRequestOrigin(req));
    const notified = `new-device:${sha256(JSON.stringify([user.id, device, address]))}`;
    if (!(await kv.setIfAbsent(notified, '1', silentMs))) return;
    try {
      await database.transaction((trx) =>
        outbox.add(trx, {
          channel: 'mail',
          to: user.email,
          template: 'new-device',
          lang,
          values: { givenName: user.givenName, atMs: now(), device, address, hasPassword: user.passwordHash !== null },
        }),
      );
    } catch (error) {
      await kv.delete(notified);
      throw error;
    }
    outbox.wake();
  }

  return {
    ...devices,
    async remember(req, res, user) {
      const known = devices.recognise(req, user) !== undefined;
      devices.remember(req, res, user);
      if (known) return;
      // Whoever has signed in is signed in, whether or not there is a mail about it.
      await notifyNewDevice(req, user).catch((error: unknown) =>
        log.error({ err: error }, 'no mail about a new device'),
      );
    },
    async trust(req, res, user) {
      devices.remember(req, res, user);
      // The next sign-in from another device is not the first one with this password: the member gets a mail about it.
      await recordSignIn(database.db, user);
    },
  };
}
