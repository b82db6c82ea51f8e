import { type Language, languages } from '../../locales/index.ts';
import { type MailTemplate, mailTemplates, renderMail, sampleMail } from '../../server/messages/index.ts';

/**
 * An attacker signs up with another person's address and an advertisement as the name: our mail to that address must not
 * carry the advertisement, its link or its markup.
 */
const advertisements = [
  'https://evil.example',
  'Vera https://evil.example/win',
  'www.evil.example',
  'WWW.EVIL.EXAMPLE',
  'evil.example',
  'go to t.co now',
  'Vera. Click evil.example',
  'evil。example',
  'ｗｗｗ．ｅｖｉｌ．ｅｘａｍｐｌｅ',
  'ｈｔｔｐｓ：／／ｅｖｉｌ',
  'vera@evil.example',
  'call +49 30 1234567',
  'You have won 1000 €',
  'Congratulations you have won a prize today',
  'V'.repeat(61),
  'Vera\nBcc: all@example.com',
  'Vera\r\n\r\nhttps://evil.example',
  'Vera\u2028evil',
  'Vera\u202egro.live',
  '<a href="https://evil.example">Vera</a>',
  '"><img src=x onerror=alert(1)>',
  '{{brand}} $t(mail.hello)',
  'Vera & Söhne | 50% off',
  '🎁🎁🎁',
  '',
  '   ',
];
const names = [
  'Vera',
  'Jean-Luc',
  'Siân',
  'O’Brien',
  "D'Arcy",
  'J. R.',
  'María José',
  'Zoë',
  '李小龍',
  'Александр',
  'Ayşe Gül',
  'محمد',
];
const look = { publicUrl: 'https://login.example.com', brandName: 'Foyer' };

const greeted = (givenName: string, template: MailTemplate = 'verify-email', lang: Language = 'en') => {
  const sample = sampleMail(template, lang);
  return renderMail({ ...sample, values: { ...sample.values, givenName } } as typeof sample, look);
};

describe.each(mailTemplates)('attack: an advertisement as the name in %s', (template) => {
  const toNobody = languages.map((lang) => greeted('', template, lang));
  it.each(advertisements)('The mail for the name %j greets without a name', (name) => {
    for (const [index, lang] of languages.entries()) {
      const [mail, plain] = [greeted(name, template, lang), toNobody[index]];
      expect(mail.subject).toBe(plain?.subject);
      expect(mail.text).toBe(plain?.text);
      expect(mail.html === plain?.html).toBe(true);
    }
  });
});

it('A greeting without a name leaves no gap', () => {
  const greetings = languages.map((lang) => greeted('', 'verify-email', lang).text.split('\n')[2]);
  expect(greetings).toEqual(['Hello,', 'Guten Tag,', 'Bonjour,', 'Hallo,']);
});

it.each(names)('A person called %s is greeted by name', (name) => {
  const { html, text } = greeted(name, 'verify-email');
  expect(text).toContain(`Hello ${name},`);
  expect(html).toContain(`Hello ${name.replace("'", '&#x27;')},`);
});

it('Markup and line breaks that an attacker puts into any other value appear as text', () => {
  const evil = '<b>x</b>\r\nBcc: a@example.com';
  const { html, text, subject } = renderMail(
    {
      template: 'new-device',
      to: `vera@example.com${evil}`,
      lang: 'en',
      values: { givenName: 'Vera', atMs: 0, device: evil, address: evil },
    },
    look,
  );
  expect(html).not.toContain('<b>');
  expect(html).toContain('&lt;b&gt;x&lt;/b&gt; Bcc');
  expect(text).not.toMatch(/^Bcc/m);
  expect(subject).toBe('Sign-in to Foyer from a new device');
});
