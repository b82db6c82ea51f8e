import { translator } from '../../server/http/index.ts';
import { deviceName } from '../../server/messages/index.ts';

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const t = translator('en');

describe('deviceName', () => {
  it.each([
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome}`, 'Chrome on Windows'],
    [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Edg/142.0.0.0`, 'Microsoft Edge on Windows'],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
      'Safari on macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari on iOS',
    ],
    [`Mozilla/5.0 (Linux; Android 10; K) ${chrome.replace('Safari', 'Mobile Safari')}`, 'Chrome on Android'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome}`, 'Chrome on Chrome OS'],
    [`Mozilla/5.0 (X11; Linux x86_64) ${chrome.replace('Chrome', 'HeadlessChrome')}`, 'Chrome on Linux'],
  ])('The user agent %s has the device name %s', (userAgent, name) => {
    expect(deviceName(t, userAgent)).toBe(name);
  });

  it('The device name is in the user’s language', () => {
    const windows = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome}`;
    expect(deviceName(translator('de'), windows)).toBe('Chrome unter Windows');
    expect(deviceName(translator('fr'), undefined)).toBe('Non reconnu');
  });

  it.each([
    undefined,
    '',
    '   ',
    'curl/8.5.0',
    'Buy/1.0 https://evil.example',
    'Visit evil.example/now for a prize',
    '<b>x</b>/1 y',
    'constructor/1 (__proto__)',
    '\u0000\u202e',
  ])('Attack: the text of an unknown user agent %j is not repeated', (userAgent) => {
    expect(deviceName(t, userAgent)).toBe('Not recognized');
  });

  it('Attack: a very long user agent costs no time', () => {
    // Processor time does not depend on other processes.
    const began = process.cpuUsage();
    for (const part of ['Mozilla/5.0 (', 'Version/1 ', '(((((', ' like ', 'Opera/']) deviceName(t, part.repeat(2_000));
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1_000).toBeLessThan(200);
  });
});
