import type { Language } from '../../locales/index.ts';
import type { Mail, MailTemplate, MailValues } from './message.ts';

const atMs = Date.UTC(2026, 10, 21, 18, 53);
const givenName = 'Vera';
const code = '493027';
const minutes = 10;

const samples: MailValues = {
  'verify-email': { givenName, code, minutes },
  welcome: { givenName },
  'password-reset': { givenName, code, minutes },
  'password-changed': { givenName, atMs },
  'account-exists': { givenName },
  'new-device': { givenName, atMs, device: 'Firefox, macOS', address: '203.0.113.7' },
  'recovery-code-used': { givenName, atMs, left: 9, device: 'Firefox, macOS', address: '203.0.113.7' },
  'second-factor-guessed': { givenName, atMs, device: 'Firefox, macOS', address: '203.0.113.7' },
  'security-notice': {
    ...{ givenName, atMs, device: 'Firefox, macOS', address: '203.0.113.7' },
    change: 'passkey-added',
    detail: 'MacBook',
  },
};

/** A mail with made-up values, to look at. */
export function sampleMail(template: MailTemplate, lang: Language): Mail {
  return { channel: 'mail', to: 'vera@example.com', template, lang, values: samples[template] } as Mail;
}
