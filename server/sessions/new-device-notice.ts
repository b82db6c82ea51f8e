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

/** The steps of a sign-in method for the device. */
export interface DeviceRecognition extends Pick<KnownDevices, 'recognise'> {
  /** Runs before the answer is sent. */
  remember(req: Request, res: Response, user: User): Promise<void>;
  /**
   * The browser has proven access to the mailbox and set a new password, so it becomes a known device. The mail about
   * the password replaces the mail about the device.
   */
  trust(req: Request, res: Response, user: User): Promise<void>;
}

/** A browser without cookies appears as a new device at each sign-in. */
const silentMs = 60 * 60_000;

/**
 * Known devices, plus the mail about a sign-in from an unknown one. The first sign-in with a password sends no such
 * mail: the user has just signed up, or got the mail about the password.
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
      // A failed mail must not fail the sign-in.
      await notifyNewDevice(req, user).catch((error: unknown) =>
        log.error({ err: error }, 'could not mail about a new device'),
      );
    },
    async trust(req, res, user) {
      devices.remember(req, res, user);
      // From now on a sign-in from another device is not the first with this password, so it sends a mail.
      await recordSignIn(database.db, user);
    },
  };
}
