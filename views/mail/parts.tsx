/** The parts of the HTML of mails. Tables, because Outlook's Word engine supports no other layout. */
import type { ComponentProps, CSSProperties, ReactNode } from 'react';
import { look, type MailColours } from './colours.ts';
import type { Fact, Link, Paragraph } from './definition.ts';

interface Coloured {
  colours: MailColours;
}

const fonts = 'Segoe UI, Roboto, -apple-system, BlinkMacSystemFont, Helvetica, Arial, sans-serif';
const mono = 'ui-monospace, SF Mono, Menlo, Consolas, Liberation Mono, monospace';
export const font = (fontSize: number, lineHeight: number) => ({
  fontFamily: fonts,
  fontSize,
  lineHeight: `${lineHeight}px`,
});
const ofText = { margin: 0, ...font(16, 25) };
const ofLabel = { margin: 0, ...font(14, 20) };

/** A table for layout only. */
export function Table({ children, ...attributes }: ComponentProps<'table'>) {
  return (
    <table role="presentation" cellPadding={0} cellSpacing={0} border={0} {...attributes}>
      <tbody>{children}</tbody>
    </table>
  );
}

/** A row of one cell. */
export function Row(cell: ComponentProps<'td'>) {
  return (
    <tr>
      <td {...cell} />
    </tr>
  );
}

/** "E-mail" does not wrap after "e-". By style, because not every font of a mail client has the non-breaking hyphen. */
export function noBreak(text: string): ReactNode {
  return text.split(/(\be-mail\w*)/i).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text never change places
      <span key={index} style={{ whiteSpace: 'nowrap' }}>
        {piece}
      </span>
    ),
  );
}

export function MailTitle({ colours, title }: Coloured & { title: string }) {
  const style: CSSProperties = { fontWeight: 600, textWrap: 'balance', overflowWrap: 'anywhere' };
  return (
    <Row style={{ paddingBottom: 20 }}>
      <h1 {...look(colours, { ink: 'ink' }, { margin: 0, ...font(26, 32), ...style })}>{noBreak(title)}</h1>
    </Row>
  );
}

export function MailParagraph({ colours, text, link, quiet = false }: Coloured & Paragraph) {
  return (
    <Row style={{ paddingBottom: 20 }}>
      <p {...look(colours, { ink: quiet ? 'ink-2' : 'ink' }, ofText)}>
        {text !== undefined && noBreak(text)}
        {text !== undefined && link && ' '}
        {link && <TextLink colours={colours} {...link} />}
      </p>
    </Row>
  );
}

/** A one-time code: large, spaced only by style, so that a copy has no spaces. */
export function Code({ colours, label, code }: Coloured & { label: string; code: string }) {
  const box = { padding: '18px 8px', borderWidth: 1, borderStyle: 'solid', borderRadius: 14 };
  // The last digit is spaced too, hence the padding.
  const spaced: CSSProperties = { fontWeight: 700, letterSpacing: 8, paddingLeft: 8, whiteSpace: 'nowrap' };
  return (
    <Row style={{ paddingBottom: 20 }}>
      <Table width="100%">
        <Row align="center" {...look(colours, { ground: 'soft', line: 'line' }, box)}>
          <div {...look(colours, { ink: 'ink-2' }, ofLabel)}>{label}</div>
          <div {...look(colours, { ink: 'ink' }, { ...font(36, 48), fontFamily: mono, ...spaced })}>{code}</div>
        </Row>
      </Table>
    </Row>
  );
}

/** A link that looks like a button. */
export function LinkButton({ colours, label, href }: Coloured & Link) {
  const padding = '13px 26px';
  // Outlook pads the cell, all others the link, so that its whole area is clickable.
  const forOutlook = { msoPaddingAlt: padding } as object;
  const style: CSSProperties = { fontWeight: 600, textAlign: 'center', textDecoration: 'none' };
  return (
    <Row style={{ paddingBottom: 24 }}>
      <Table>
        <Row {...look(colours, { ground: 'accent' }, { borderRadius: 12, ...forOutlook })}>
          <a
            href={href}
            target="_blank"
            rel="noopener"
            {...look(colours, { ink: 'on-accent' }, { display: 'inline-block', padding, ...font(16, 22), ...style })}
          >
            {label}
          </a>
        </Row>
      </Table>
    </Row>
  );
}

/** Within a line. */
export function TextLink({ colours, label, href }: Coloured & Link) {
  return (
    <a href={href} target="_blank" rel="noopener" {...look(colours, { ink: 'link' })}>
      {label}
    </a>
  );
}

function FactRow({ colours, label, value, as }: Coloured & Fact) {
  const cell = (style: CSSProperties = {}) =>
    look(colours, { line: 'line' }, { padding: '10px 0', borderTopWidth: 1, borderTopStyle: 'solid', ...style });
  if (as === undefined) {
    return (
      <Row colSpan={2} {...cell()}>
        <div {...look(colours, { ink: 'ink-2' }, ofLabel)}>{label}</div>
        <div {...look(colours, { ink: 'ink' }, { ...ofText, wordBreak: 'break-word' })}>{value}</div>
      </Row>
    );
  }
  const style = as === 'total' ? { ...ofText, fontWeight: 700 } : ofText;
  return (
    <tr>
      <td {...cell()}>
        <div {...look(colours, { ink: as === 'total' ? 'ink' : 'ink-2' }, style)}>{label}</div>
      </td>
      <td align="right" {...cell({ whiteSpace: 'nowrap' })}>
        <div {...look(colours, { ink: 'ink' }, style)}>{value}</div>
      </td>
    </tr>
  );
}

export function Facts({ colours, facts }: Coloured & { facts: readonly Fact[] }) {
  return (
    <Row style={{ paddingBottom: 14 }}>
      <Table width="100%">
        {facts.map((fact) => (
          <FactRow key={fact.label} colours={colours} {...fact} />
        ))}
      </Table>
    </Row>
  );
}
