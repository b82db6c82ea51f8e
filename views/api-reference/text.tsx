import { Fragment } from 'react';

/** A line of Markdown in which only code is marked up: every other sign is text. */
export function Line({ text }: { text: string }) {
  return text.split('`').map((part, at) => {
    const key = `${at} ${part}`;
    return at % 2 === 1 ? <code key={key}>{part}</code> : <Fragment key={key}>{part}</Fragment>;
  });
}

/** Paragraphs of such lines. */
export function Paragraphs({ text }: { text: string }) {
  return text.split('\n\n').map((paragraph) => (
    <p key={paragraph}>
      <Line text={paragraph} />
    </p>
  ));
}
