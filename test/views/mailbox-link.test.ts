import { findMailbox } from '../../views/parts/mailbox-link.tsx';

describe('the mailbox of an address', () => {
  it.each([
    ['vera@gmail.com', 'https://mail.google.com/mail/'],
    ['Vera@GoogleMail.com', 'https://mail.google.com/mail/'],
    ['vera@outlook.de', 'https://outlook.live.com/mail/'],
    ['vera@hotmail.co.uk', 'https://outlook.live.com/mail/'],
    ['vera@yahoo.fr', 'https://mail.yahoo.com/'],
    ['vera@me.com', 'https://www.icloud.com/mail/'],
    ['vera@proton.me', 'https://mail.proton.me/'],
  ])('The mailbox of %s is a known one', (email, href) => {
    expect(findMailbox(email)?.href).toBe(href);
  });

  it.each([
    'vera@example.com',
    'vera@gmail.com.example',
    'vera@notgmail.com',
    'vera@gmail.com@example.com',
    'gmail.com',
    '+491511234567',
    '',
  ])('An address of another domain, or that only looks like a known one, has no link: %s', (email) => {
    expect(findMailbox(email)).toBe(undefined);
  });
});
