import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { languages } from '../../locales/index.ts';
import { mailTemplates } from '../../server/messages/index.ts';
import { cliOn } from '../support/cli.ts';

/** No store is opened: the folder does not exist and is not made. */
const foyer = cliOn(
  { databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-cli-mail', 'nowhere') },
  { PUBLIC_URL: 'http://localhost:4321', BRAND_NAME: 'Maison', BRAND_ACCENT: '#6d28d9' },
);

describe('foyer mail preview', () => {
  it.each(mailTemplates)('The preview of %s prints subject and text in every language', async (name) => {
    const runs = await Promise.all(languages.map((lang) => foyer('mail', 'preview', name, '--lang', lang)));
    for (const { code, out, err } of runs) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(/^Subject: .*Maison.*\n\n[^\n]+\n\n[^\n]+ Vera,\n/);
      expect(out).toContain('http://localhost:4321/');
    }
    expect(new Set(runs.map(({ out }) => out)).size).toBe(languages.length);
  });

  it('The preview is English plain text by default', async () => {
    const { out } = await foyer('mail', 'preview', 'verify-email');
    expect(out).toContain('\n493027\n');
    expect(out).toContain('Hello Vera,');
    expect((await foyer('mail', 'preview', 'verify-email', '--text')).out).toBe(out);
  });

  it('The option --html prints the document in the brand’s colour', async () => {
    const { out } = await foyer('mail', 'preview', 'welcome', '--lang', 'nl', '--html');
    expect(out).toMatch(/^<!doctype html><html lang="nl"[\s\S]*<\/html>\n$/);
    expect(out).toContain('#6d28d9');
  });

  it('The option --json prints subject, HTML and text', async () => {
    const mail = (await foyer('mail', 'preview', 'welcome', '--json')).json();
    expect(Object.keys(mail)).toEqual(['subject', 'html', 'text']);
    expect(mail.subject).toBe('Welcome to Maison');
  });

  it.each([
    [['mail', 'preview', 'invoice'], /no mail is called invoice; they are verify-email, welcome/],
    [['mail', 'preview', 'welcome', '--lang', 'it'], /Allowed choices are en, de, fr, nl/],
    [['mail', 'preview', 'welcome', '--html', '--text'], /one of --html and --text/],
    [['mail', 'preview'], /missing required argument 'name'/],
  ])('The words %j are a wrong command line', async (words, says) => {
    const { code, out, err } = await foyer(...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(says);
  });
});
