import type { Link, MailDocument } from './definition.ts';

/** The parts that exist, with what separates them. */
const join = (parts: readonly (string | undefined)[], separator: string) =>
  parts.filter((part) => part !== undefined).join(separator);

/** A mail as plain text: the content of the HTML, with the address below each link. */
export function mailText(mail: MailDocument): string {
  const { t, title, greeting, lead, code, facts, advice, button, notes, why, sentTo, brand, home, questions } = mail;
  const labelled = (label: string) => t('mail.labelled', { label });
  const withAddress = (link: Link | undefined) => link && `${labelled(link.label)}\n${link.href}`;
  const listed = facts.map(({ label, value }) => `${labelled(label)} ${value}`);
  const paragraphs = [
    title,
    greeting,
    lead,
    code,
    listed.length > 0 ? listed.join('\n') : undefined,
    advice,
    withAddress(button),
    ...notes.map(({ text, link }) => join([text, withAddress(link)], ' ')),
    `---\n${why}\n${sentTo}`,
    join([brand.name, home, questions && `${t('mail.questions')} ${questions.address}`], '\n'),
  ];
  return `${join(paragraphs, '\n\n').trim()}\n`;
}
