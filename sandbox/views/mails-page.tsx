import { type Language, languageNames, languages } from '../../locales/index.ts';
import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Breadcrumb } from '../../views/parts/breadcrumb.tsx';
import { Card } from '../../views/parts/card.tsx';
import { SegmentedLinks } from '../../views/parts/segmented-links.tsx';
import { textsFor } from '../texts.ts';
import { MailFrame } from './mail-frame.tsx';

interface MailsPageProps {
  ctx: PageContext;
  /** The language of the mails; the page itself stays in the visitor's. */
  mailLang: Language;
  mails: readonly { template: string; subject: string; text: string; htmlAddress: string }[];
  /** Of this page. */
  address: string;
  mailboxHref: string;
}

/** Every template in one language, with sample values. */
export function MailsPage({ ctx, mailLang, mails, address, mailboxHref }: MailsPageProps) {
  const t = textsFor(ctx);
  const { brand } = ctx;
  const title = t('sandbox.mailsPage.title');
  const path = [{ href: mailboxHref, label: t('sandbox.mailboxPage.back') }, { label: title }];
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <Breadcrumb label={title} path={path} />
      <div className="page-head">
        <h1>{title}</h1>
        <p className="lead muted">{t('sandbox.mailsPage.lead', { brand: brand.name })}</p>
      </div>
      <SegmentedLinks
        label={t('sandbox.mailsPage.language')}
        parts={languages.map((lang) => ({
          href: `${address}?mails=${lang}`,
          label: languageNames[lang],
          current: lang === mailLang,
        }))}
      />
      {/* The chosen mail is shown below it. */}
      <div className="mail-list">
        <Card flush>
          <ul className="items">
            {mails.map(({ template, subject }) => (
              <li key={template}>
                <div className="item-words">
                  <p className="item-label">
                    <a href={`#${template}`} lang={mailLang}>
                      {subject}
                    </a>
                  </p>
                  <p className="item-value small">
                    <code>{template}</code>
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </Card>
      </div>
      {mails.map(({ template, subject, text, htmlAddress }) => (
        <section
          className="mail-sample"
          key={template}
          id={template}
          aria-labelledby={`${template}-name ${template}-template`}
        >
          <div className="card-head">
            <h2 id={`${template}-name`}>
              <span lang={mailLang}>{subject}</span>
            </h2>
            <p className="small muted" id={`${template}-template`}>
              <code>{template}</code>
            </p>
          </div>
          <Card flush>
            <MailFrame src={htmlAddress} title={`${template}: ${subject}`} text={text} />
          </Card>
          <Card title={t('sandbox.mailPage.text')}>
            <pre className="mail-text" lang={mailLang}>
              {text}
            </pre>
          </Card>
        </section>
      ))}
    </PlainLayout>
  );
}
