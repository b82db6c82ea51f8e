import { darkModeRules, look, type MailColours } from './colours.ts';
import type { MailDocument } from './definition.ts';
import { Code, Facts, font, LinkButton, MailParagraph, MailTitle, noBreak, Row, Table, TextLink } from './parts.tsx';

const host = (address: string) => address.replace(/^https?:\/\//, '').replace(/\/$/, '');

/** Foyer's sign as borders: nested arches; without rounded corners, nested rectangles. */
function Sign({ colours }: { colours: MailColours }) {
  const arch = ({ width, height, radius }: Record<'width' | 'height' | 'radius', number>) =>
    look(
      colours,
      { line: 'accent' },
      {
        width,
        height,
        borderWidth: '2px 2px 0',
        borderStyle: 'solid',
        borderRadius: `${radius}px ${radius}px 0 0`,
        padding: '4px 4px 0',
        fontSize: 0,
        lineHeight: 0,
      },
    );
  return (
    <Table aria-hidden="true">
      <Row {...arch({ width: 10, height: 16, radius: 11 })}>
        <Table>
          <Row {...arch({ width: 6, height: 12, radius: 7 })}>&nbsp;</Row>
        </Table>
      </Row>
    </Table>
  );
}

function Brand({ brand, colours }: MailDocument) {
  return (
    <Table>
      <tr>
        {brand.sign && (
          <td style={{ paddingRight: 10 }}>
            <Sign colours={colours} />
          </td>
        )}
        <td {...look(colours, { ink: 'ink' }, { ...font(19, 24), fontWeight: 700 })}>{brand.name}</td>
      </tr>
    </Table>
  );
}

function Footer({ t, colours, brand, home, questions, why, sentTo }: MailDocument) {
  const line = look(colours, { ink: 'ink-2' }, { margin: '0 0 6px', ...font(13, 20), wordBreak: 'break-word' });
  return (
    <>
      <p {...line}>{noBreak(`${why} ${sentTo}`)}</p>
      <p {...line}>
        {brand.name}, <TextLink colours={colours} href={home} label={host(home)} />
        {questions && (
          <>
            . {t('mail.questions')} <TextLink colours={colours} {...questions} />
          </>
        )}
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

function Head({ colours, subject }: MailDocument) {
  const day = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (max-width:480px){.pad{padding-left:22px!important;padding-right:22px!important}}`;
  // Separate, because a client that cannot parse a selector drops the whole style element.
  const detected = 'a[x-apple-data-detectors]{color:inherit!important;text-decoration:inherit!important}';
  const night = `@media (prefers-color-scheme:dark){${darkModeRules(colours)}}`;
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
      <style>{detected}</style>
      <style>{night}</style>
      <style>{outlookNight}</style>
    </head>
  );
}

/** The content in a box, below the brand. */
function ContentBox({ t, colours, title, greeting, lead, code, facts, advice, button, notes }: MailDocument) {
  const box = look(
    colours,
    { ground: 'surface', line: 'line' },
    { padding: '34px 36px 14px', borderWidth: 1, borderStyle: 'solid', borderRadius: 18 },
  );
  return (
    <Row align="left" {...box} className={`pad ${box.className}`}>
      <Table width="100%">
        <MailTitle colours={colours} title={title} />
        <MailParagraph colours={colours} text={greeting} />
        {lead !== undefined && <MailParagraph colours={colours} text={lead} />}
        {code !== undefined && <Code colours={colours} label={t('mail.codeLabel')} code={code} />}
        {facts.length > 0 && <Facts colours={colours} facts={facts} />}
        {advice !== undefined && <MailParagraph colours={colours} text={advice} />}
        {button && <LinkButton colours={colours} {...button} />}
        {notes.map((note) => (
          <MailParagraph key={note.text ?? note.link?.href} colours={colours} {...note} />
        ))}
      </Table>
    </Row>
  );
}

/** A mail as HTML: brand, content, reason. */
export function mailDocument(mail: MailDocument) {
  const { lang, colours, preheader } = mail;
  return (
    <html lang={lang} dir="ltr">
      <Head {...mail} />
      <body {...look(colours, { ground: 'paper' }, { margin: 0, padding: 0 })}>
        <Preheader>{preheader}</Preheader>
        <Table width="100%" {...look(colours, { ground: 'paper' })}>
          <Row align="center" style={{ padding: '28px 12px' }}>
            {/* Outlook reads the attribute, all other clients the style. */}
            <Table width={600} style={{ width: '100%', maxWidth: 600 }}>
              <Row className="pad" align="left" style={{ padding: '0 36px 20px' }}>
                <Brand {...mail} />
              </Row>
              <ContentBox {...mail} />
              <Row className="pad" align="left" style={{ padding: '22px 36px 0' }}>
                <Footer {...mail} />
              </Row>
            </Table>
          </Row>
        </Table>
      </body>
    </html>
  );
}
