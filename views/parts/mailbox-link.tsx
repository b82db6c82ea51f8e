import type { PageContext } from '../page-context.ts';

/** Providers of mailboxes whose pages read mail, by the domains of their addresses. */
const mailboxes = [
  { name: 'Gmail', href: 'https://mail.google.com/mail/', domains: /^(?:gmail|googlemail)\.com$/ },
  {
    name: 'Outlook',
    href: 'https://outlook.live.com/mail/',
    domains: /^(?:(?:outlook|hotmail|live)\.(?:com|at|be|ch|de|es|fr|it|nl|co\.uk)|msn\.com)$/,
  },
  { name: 'Yahoo Mail', href: 'https://mail.yahoo.com/', domains: /^(?:yahoo|ymail)\.(?:com|de|es|fr|it|nl|co\.uk)$/ },
  { name: 'iCloud Mail', href: 'https://www.icloud.com/mail/', domains: /^(?:icloud|me|mac)\.com$/ },
  { name: 'Proton Mail', href: 'https://mail.proton.me/', domains: /^(?:proton\.me|protonmail\.com|pm\.me)$/ },
] as const;

/** The mailbox of an address, if its provider is known: one of a fixed list, whatever the address is. */
export function findMailbox(email: string): (typeof mailboxes)[number] | undefined {
  const at = email.lastIndexOf('@');
  if (at < 0) return undefined;
  const domain = email.slice(at + 1).toLowerCase();
  return mailboxes.find(({ domains }) => domains.test(domain));
}

/** Opens the mailbox beside the page, on which the code is typed. */
export function MailboxLink({ ctx: { t }, email }: { ctx: PageContext; email: string }) {
  const mailbox = findMailbox(email);
  if (mailbox === undefined) return null;
  return (
    <p>
      <a href={mailbox.href} target="_blank" rel="noopener noreferrer">
        {t('common.openMailbox', { name: mailbox.name })}
        <span className="visually-hidden"> ({t('common.newTab')})</span>
      </a>
    </p>
  );
}
