import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { type Device, device, hiddenField, typeCode } from '../support/devices.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import type { Backend } from '../support/stores.ts';

/** A Foyer with a user and a device that requests codes. */
export function setUpDevice(backend: Backend) {
  let foyer: TestFoyer;
  let user: User;
  let radio: Device;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    radio = await device(foyer);
  });
  afterAll(() => foyer?.close());

  const errorOf = async (asked: Awaited<ReturnType<Device['ask']>>, by = radio) => (await by.poll(asked)).body.error;
  const confirmPage = async (browser: Browser, code: string) => {
    const html = await (await typeCode(browser, code)).text();
    return { xsrf: hiddenField(html, 'xsrf'), user_code: hiddenField(html, 'user_code') };
  };

  return {
    get foyer() {
      return foyer;
    },
    get user() {
      return user;
    },
    get radio() {
      return radio;
    },
    errorOf,
    confirmPage,
  };
}
