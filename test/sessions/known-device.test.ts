import { hostCookies } from '../../server/http/index.ts';
import { createKnownDevices } from '../../server/sessions/index.ts';
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
  devices.remember(req, res, { id: member, passwordEpoch });
  return set()[name]?.plain ?? '';
}
const recognised = (mark: string, id: string, by = devices, passwordEpoch = 0) =>
  by.recognise(exchange({ [name]: mark }).req, { id, passwordEpoch });

describe('knownDevices', () => {
  it('knows a device again for the member who signed in on it, and for nobody else', () => {
    const mark = markOf('ada');
    expect(recognised(mark, 'ada')).toMatch(/^[\w-]{16}$/);
    expect(recognised(mark, 'eve')).toBeUndefined();
    expect(recognised('', 'ada')).toBeUndefined();
  });

  it('keeps the device’s id over sign-ins, and gives every device its own', () => {
    const mark = markOf('ada');
    expect(recognised(remembered(mark, 'ada'), 'ada')).toBe(recognised(mark, 'ada'));
    expect(recognised(markOf('ada'), 'ada')).not.toBe(recognised(mark, 'ada'));
  });

  it('knows the last five members of a shared computer', () => {
    const mark = markOf('a', 'b', 'c', 'd', 'e', 'f');
    expect(recognised(mark, 'a')).toBeUndefined();
    for (const member of ['b', 'c', 'd', 'e', 'f']) expect(recognised(mark, member)).toBeDefined();
  });

  it('forgets a device when the password is a new one, and gives it another id from then on', () => {
    const mark = markOf('ada');
    expect(recognised(mark, 'ada', devices, 1)).toBeUndefined();
    const renewed = remembered(mark, 'ada', 1);
    expect(recognised(renewed, 'ada', devices, 1)).toMatch(/^[\w-]{16}$/);
    expect(recognised(renewed, 'ada', devices, 1)).not.toBe(recognised(mark, 'ada'));
    expect(recognised(renewed, 'ada', devices, 0)).toBeUndefined();
  });

  it('tells who reads the cookie nothing about the members', () => {
    expect(markOf('ada@example.com')).not.toContain('ada');
  });

  it('believes no mark that it did not sign', () => {
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
