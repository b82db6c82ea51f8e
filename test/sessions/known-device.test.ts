import { hostCookies } from '../../server/http/index.ts';
import { createKnownDevices } from '../../server/sessions/index.ts';
import { toUserId } from '../support/ids.ts';
import { exchange } from './exchange.ts';

const cookies = hostCookies(true);
const devices = createKnownDevices(cookies, Buffer.alloc(32, 1));

const name = '__Host-foyer_device';

/** What the cookie is when these members have signed in, one after the other, in one browser. */
function markOf(...members: string[]): string {
  return members.reduce((mark, member) => remembered(mark, member), '');
}
function remembered(mark: string, member: string, passwordEpoch = 0): string {
  const { req, res, set } = exchange(mark === '' ? {} : { [name]: mark });
  devices.remember(req, res, { id: toUserId(member), passwordEpoch });
  return set()[name]?.plain ?? '';
}
const recognised = (mark: string, id: string, by = devices, passwordEpoch = 0) =>
  by.recognise(exchange({ [name]: mark }).req, { id: toUserId(id), passwordEpoch });

describe('knownDevices', () => {
  it('A device is recognized for the user who signed in on it, and for no other user', () => {
    const mark = markOf('ada');
    expect(recognised(mark, 'ada')).toMatch(/^[\w-]{16}$/);
    expect(recognised(mark, 'eve')).toBeUndefined();
    expect(recognised('', 'ada')).toBeUndefined();
  });

  it('A device keeps its id over sign-ins, and every device has its own', () => {
    const mark = markOf('ada');
    expect(recognised(remembered(mark, 'ada'), 'ada')).toBe(recognised(mark, 'ada'));
    expect(recognised(markOf('ada'), 'ada')).not.toBe(recognised(mark, 'ada'));
  });

  it('A shared device is recognized for its last five users', () => {
    const mark = markOf('a', 'b', 'c', 'd', 'e', 'f');
    expect(recognised(mark, 'a')).toBeUndefined();
    for (const member of ['b', 'c', 'd', 'e', 'f']) expect(recognised(mark, member)).toBeDefined();
  });

  it('A device is forgotten after a new password and gets another id', () => {
    const mark = markOf('ada');
    expect(recognised(mark, 'ada', devices, 1)).toBeUndefined();
    const renewed = remembered(mark, 'ada', 1);
    expect(recognised(renewed, 'ada', devices, 1)).toMatch(/^[\w-]{16}$/);
    expect(recognised(renewed, 'ada', devices, 1)).not.toBe(recognised(mark, 'ada'));
    expect(recognised(renewed, 'ada', devices, 0)).toBeUndefined();
  });

  it('Attack: one request asks for several users and epochs, and a device is recognized for its own only', () => {
    const { req } = exchange({ [name]: markOf('ada') });
    const ask = (id: string, passwordEpoch = 0) => devices.recognise(req, { id: toUserId(id), passwordEpoch });
    expect(ask('eve')).toBeUndefined();
    const device = ask('ada');
    expect(device).toMatch(/^[\w-]{16}$/);
    expect([ask('ada'), ask('ada', 1), ask('eve'), ask('ada')]).toEqual([device, undefined, undefined, device]);
  });

  it('The cookie discloses nothing about the users', () => {
    expect(markOf('ada@example.com')).not.toContain('ada');
  });

  it('Attack: a forged cookie is not accepted', () => {
    const mark = markOf('ada');
    const [member = '', device = '', signature = ''] = mark.split('.');
    const [, , foreign = ''] = markOf('eve').split('.');
    for (const forged of [
      `${member}.other.${signature}`,
      `${member}.${device}.${foreign}`,
      `${member}.${device}.`,
      `${member}.${device}`,
      `${member}.${device}.${signature}.x`,
      `${member}.${device}.${signature}x`,
      `${'x'.repeat(5)}~${'y'.repeat(3_000)}`,
      `${'a.b.c~'.repeat(5)}${mark}`,
    ]) {
      expect(recognised(forged, 'ada')).toBeUndefined();
    }
    expect(recognised(mark, 'ada', createKnownDevices(cookies, Buffer.alloc(32, 2)))).toBeUndefined();
  });
});
