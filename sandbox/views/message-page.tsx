import { formatDate } from '../../views/format.ts';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Breadcrumb } from '../../views/parts/breadcrumb.tsx';
import { Card } from '../../views/parts/card.tsx';
import { textsFor } from '../texts.ts';
import { MailFrame } from './mail-frame.tsx';
import { CopyableCode, type MessageLine } from './mailbox-page.tsx';

interface MessagePageProps {
  ctx: PageContext;
  message: MessageLine & {
    channel: 'mail' | 'sms';
    from?: string | undefined;
    replyTo?: string | undefined;
    text: string;
  };
  /** The address of the HTML, if it has any. */
  htmlAddress?: string | undefined;
  mailboxHref: string;
}

/** One message: the code, headers, HTML, plain text. */
export function MessagePage({ ctx, message, htmlAddress, mailboxHref }: MessagePageProps) {
  const t = textsFor(ctx);
  const { id, channel, to, from, replyTo, subject, code, text, atMs } = message;
  const title = subject ?? t('sandbox.mailboxPage.sms');
  const headers = [
    [t('sandbox.mailPage.to'), to],
    [t('sandbox.mailPage.from'), from],
    [t('sandbox.mailPage.replyTo'), replyTo],
    [t('sandbox.mailPage.date'), formatDate(ctx.lang, atMs, 'exact')],
    [t('sandbox.mailPage.channel'), t(channel === 'mail' ? 'sandbox.mailPage.mail' : 'sandbox.mailboxPage.sms')],
  ] as const;
  const path = [{ href: mailboxHref, label: t('sandbox.mailboxPage.back') }, { label: title }];
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <Breadcrumb label={t('sandbox.mailboxPage.title')} path={path} />
      <div className="page-head">
        <h1>{title}</h1>
        {code !== undefined && <CopyableCode ctx={ctx} id={`code-${id}`} code={code} />}
      </div>
      <Card title={t('sandbox.mailPage.headers')}>
        <dl className="claims">
          {headers.map(
            ([label, value]) =>
              value !== undefined && (
                <div key={label}>
                  <dt>{label}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </Card>
      {htmlAddress !== undefined && (
        <Card title={t('sandbox.mailPage.html')} flush>
          <MailFrame src={htmlAddress} title={title} text={text} />
        </Card>
      )}
      <Card title={t('sandbox.mailPage.text')}>
        <pre className="mail-text">{text}</pre>
      </Card>
    </PlainLayout>
  );
}
