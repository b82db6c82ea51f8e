import type { OutgoingMail } from '../../server/messages/index.ts';
import type { SmtpMail } from './stand-in-smtp.ts';

export const rendered = {
  to: 'ada@example.com',
  from: { address: 'no-reply@example.com', name: 'Foyer & Söhne' },
  replyTo: 'help@example.com',
  subject: 'Grüße — your code',
  html: '<p>123456</p>',
  text: '123456',
} satisfies OutgoingMail;
export const options = { idempotencyKey: '019a0000-0000-7000-8000-000000000001' };

/** The error of a delivery that failed. */
export const failureOf = (sending: Promise<void>) =>
  sending.then(
    () => undefined,
    (error: Error) => error,
  );

/** The headers, unfolded (RFC 5322, section 2.2.3), by name; each is there once. */
export function headersOf({ head }: SmtpMail): Map<string, string> {
  const lines = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const pairs = lines.map((line) => /^([\w-]+): ?(.*)$/.exec(line)?.slice(1) ?? ['', line]);
  expect(new Set(pairs.map(([name]) => name)).size).toBe(pairs.length);
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}
