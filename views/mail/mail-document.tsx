import type { ReactNode } from 'react';
import type { texts } from '../../locales/index.ts';
import { darkModeRules, look, type MailContext } from './mail-context.ts';
import { fonts, layoutTable, noBreak, Paragraph, TextLink, Title } from './parts.tsx';

type MailTexts = (typeof texts)['en']['mail'];
/** Names of a mail's texts. */
type MailName = {
  [Name in keyof MailTexts]: MailTexts[Name] extends { preheader: string; why: string } ? Name : never;
}[keyof MailTexts];
/** Those with one title for all cases. */
type TitledMail = { [Name in MailName]: MailTexts[Name] extends { title: string } ? Name : never }[MailName];
export type Titled = { name: TitledMail; title?: undefined } | { name: Exclude<MailName, TitledMail>; title: string };

/**
 * Its texts, by its name: the title, the preheader (shown after the subject in lists of mails), the reason for the
 * mail.
 */
export type MailDocumentProps = Titled & {
  ctx: MailContext;
  subject: string;
  /** The recipient's, if it may be shown. */
  givenName?: string | undefined;
  children: ReactNode;
};

const host = (address: string) => address.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** Foyer's sign as borders: nested arches; without rounded corners, nested rectangles. */
function Sign({ ctx }: { ctx: MailContext }) {
  const arch = (size: { width: number; height: number; radius: number }) =>
    look(
      ctx,
      { line: 'accent' },
      {
        width: size.width,
        height: size.height,
        borderWidth: '2px 2px 0',
        borderStyle: 'solid',
        borderRadius: `${size.radius}px ${size.radius}px 0 0`,
        padding: '4px 4px 0',
        fontSize: 0,
        lineHeight: 0,
      },
    );
  return (
    <table {...layoutTable} aria-hidden="true">
      <tbody>
        <tr>
          <td {...arch({ width: 10, height: 16, radius: 11 })}>
            <table {...layoutTable}>
              <tbody>
                <tr>
                  <td {...arch({ width: 6, height: 12, radius: 7 })}>&nbsp;</td>
                </tr>
              </tbody>
            </table>
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function Brand({ ctx }: { ctx: MailContext }) {
  return (
    <table {...layoutTable}>
      <tbody>
        <tr>
          {ctx.brand.sign && (
            <td style={{ paddingRight: 10 }}>
              <Sign ctx={ctx} />
            </td>
          )}
          <td {...look(ctx, { ink: 'ink' }, { fontFamily: fonts, fontSize: 19, lineHeight: '24px', fontWeight: 700 })}>
            {ctx.brand.name}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** The address for questions: the help center, else an e-mail address. */
function Questions({ ctx }: { ctx: MailContext }) {
  const { t, links } = ctx;
  const address = links.help ?? links.support;
  if (address === undefined) return null;
  const href = links.help ?? `mailto:${address}`;
  return (
    <>
      {ctx.medium === 'html' && '. '}
      {t('mail.questions')}{' '}
      {ctx.medium === 'text' ? (
        address
      ) : (
        <TextLink ctx={ctx} href={href}>
          {links.help === undefined ? address : t('mail.helpCentre')}
        </TextLink>
      )}
    </>
  );
}

function Footer({ ctx, why }: { ctx: MailContext; why: string }) {
  const { links, brand, to } = ctx;
  const sentTo = ctx.t('mail.sentTo', { to });
  if (ctx.medium === 'text') {
    return (
      <>
        {['---\n', why, '\n', sentTo, '\n\n', brand.name, '\n', links.home, '\n']}
        <Questions ctx={ctx} />
      </>
    );
  }
  const style = {
    margin: '0 0 6px',
    fontFamily: fonts,
    fontSize: 13,
    lineHeight: '20px',
    wordBreak: 'break-word',
  } as const;
  return (
    <>
      <p {...look(ctx, { ink: 'ink-2' }, style)}>{noBreak(`${why} ${sentTo}`)}</p>
      <p {...look(ctx, { ink: 'ink-2' }, style)}>
        {brand.name},{' '}
        <TextLink ctx={ctx} href={links.home}>
          {host(links.home)}
        </TextLink>
        <Questions ctx={ctx} />
      </p>
    </>
  );
}

/** Only lists of mails show it; the filler keeps the mail's own text out of the list. */
function Preheader({ children }: { children: string }) {
  const hidden = { display: 'none', maxHeight: 0, overflow: 'hidden', fontSize: 1, lineHeight: '1px', opacity: 0 };
  return (
    <div style={{ ...hidden, msoHide: 'all' } as object} aria-hidden="true">
      {children}
      {'\u034f\u200c\u00a0'.repeat(60)}
    </div>
  );
}

function Head({ ctx, subject }: { ctx: MailContext; subject: string }) {
  const { colours } = ctx;
  const day = `:root{color-scheme:light dark;supported-color-schemes:light dark}a[x-apple-data-detectors]{color:inherit!important;text-decoration:inherit!important}@media (max-width:480px){.pad{padding-left:22px!important;padding-right:22px!important}}`;
  const night = `@media (prefers-color-scheme:dark){${darkModeRules(colours)}}`;
  // Separate, because a client that cannot parse a selector drops the whole style element.
  const outlookNight = darkModeRules(colours, { ground: '[data-ogsb]', ink: '[data-ogsc]', line: '[data-ogsc]' });
  return (
    <head>
      <meta charSet="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="supported-color-schemes" content="light dark" />
      <meta name="format-detection" content="telephone=no, date=no, address=no, email=no" />
      <meta name="x-apple-disable-message-reformatting" />
      <title>{subject}</title>
      <style>{day}</style>
      <style>{night}</style>
      <style>{outlookNight}</style>
    </head>
  );
}

/** The content in a box, below the brand. */
function ContentBox({ ctx, children }: { ctx: MailContext; children: ReactNode }) {
  const box = look(
    ctx,
    { ground: 'surface', line: 'line' },
    { padding: '34px 36px 14px', borderWidth: 1, borderStyle: 'solid', borderRadius: 18 },
  );
  return (
    <tr>
      <td align="left" {...withClass('pad', box)}>
        <table {...layoutTable} width="100%">
          <tbody>{children}</tbody>
        </table>
      </td>
    </tr>
  );
}

/** One mail: brand, greeting, content, reason. The plain text has the same without the subject. */
export function MailDocument({ ctx, subject, givenName, children, ...titled }: MailDocumentProps) {
  const text = (part: 'preheader' | 'why') => ctx.t(`mail.${titled.name}.${part}`, { brand: ctx.brand.name });
  const title = titled.title ?? ctx.t(`mail.${titled.name}.title`, { brand: ctx.brand.name });
  const why = text('why');
  const { t, lang } = ctx;
  const greeting = givenName === undefined ? t('mail.helloPlain') : t('mail.hello', { givenName });
  const content = (
    <>
      <Title ctx={ctx}>{title}</Title>
      <Paragraph ctx={ctx}>{greeting}</Paragraph>
      {children}
    </>
  );
  if (ctx.medium === 'text') {
    return (
      <>
        {content}
        <Footer ctx={ctx} why={why} />
      </>
    );
  }
  return (
    <html lang={lang} dir="ltr">
      <Head ctx={ctx} subject={subject} />
      <body {...look(ctx, { ground: 'paper' }, { margin: 0, padding: 0 })}>
        <Preheader>{text('preheader')}</Preheader>
        <table {...layoutTable} width="100%" {...look(ctx, { ground: 'paper' })}>
          <tbody>
            <tr>
              <td align="center" style={{ padding: '28px 12px' }}>
                {/* Outlook reads the attribute, all other clients the style. */}
                <table {...layoutTable} width={600} style={{ width: '100%', maxWidth: 600 }}>
                  <tbody>
                    <tr>
                      <td className="pad" align="left" style={{ padding: '0 36px 20px' }}>
                        <Brand ctx={ctx} />
                      </td>
                    </tr>
                    <ContentBox ctx={ctx}>{content}</ContentBox>
                    <tr>
                      <td className="pad" align="left" style={{ padding: '22px 36px 0' }}>
                        <Footer ctx={ctx} why={why} />
                      </td>
                    </tr>
                  </tbody>
                </table>
              </td>
            </tr>
          </tbody>
        </table>
      </body>
    </html>
  );
}

function withClass<L extends { className: string }>(name: string, looks: L): L {
  return { ...looks, className: `${name} ${looks.className}` };
}
