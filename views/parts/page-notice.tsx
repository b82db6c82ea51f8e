import type { PageContext } from '../page-context.ts';
import { Notice, type NoticeKind } from './notice.tsx';
import { type NoticeDuration, noticeDurationsMs } from './notice-durations.ts';
import { PassingNotice } from './passing-notice.tsx';

export interface PageNoticeProps {
  kind: NoticeKind;
  title?: string | undefined;
  text: string;
  /** With a link to the support: the text asks the member to write. */
  support?: boolean | undefined;
  /** By default it stays. */
  duration?: NoticeDuration;
  /** After the text of a notice that stays. */
  link?: { href: string; label: string };
}

/** A message about the whole page, for the specification's duration. */
export function PageNotice({ ctx, notice }: { ctx: PageContext; notice: PageNoticeProps | undefined }) {
  if (notice === undefined) return null;
  const { duration = 'never', text, support = false, link, ...look } = notice;
  const durationMs = noticeDurationsMs[duration];
  if (durationMs !== null) return <PassingNotice ctx={ctx} {...look} text={text} durationMs={durationMs} />;
  return (
    <Notice {...look}>
      {text} {link !== undefined && <a href={link.href}>{link.label}</a>}
      {support && <SupportLink ctx={ctx} />}
    </Notice>
  );
}

/** The mail address of the support, else the help center; nothing if neither is configured. */
export function SupportLink({ ctx: { t, links } }: { ctx: PageContext }) {
  const href = links.support ?? links.help;
  if (href === undefined) return null;
  return (
    <>
      {' '}
      <a href={href}>{links.support?.replace('mailto:', '') ?? t('common.footer.help')}</a>
    </>
  );
}

/** The same, else the imprint: an address to which anyone can write. */
export function ContactLink({ ctx }: { ctx: PageContext }) {
  const { t, links } = ctx;
  if (links.support !== undefined || links.help !== undefined) return <SupportLink ctx={ctx} />;
  return (
    <>
      {' '}
      <a href={links.imprint}>{t('legal.imprint')}</a>
    </>
  );
}
