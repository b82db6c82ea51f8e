import { Fragment, type ReactNode } from 'react';
import { Markdown } from '../parts/markdown.tsx';

/** A document for a page: HTML from Markdown, in sections. */
export interface LegalTextProps {
  title: string;
  lang: string;
  intro: string;
  sections: readonly { title: string; body: string }[];
}

/** A short document above the text of another one, with headings of the next level. */
function Summary({ text }: { text: LegalTextProps }) {
  return (
    <section className="legal-summary" lang={text.lang}>
      <h2>{text.title}</h2>
      <Markdown html={text.intro} />
      {text.sections.map(({ title, body }) => (
        <Fragment key={title}>
          <h3>{title}</h3>
          <Markdown html={body} />
        </Fragment>
      ))}
    </section>
  );
}

/** Its sections are numbered if the text is a contract. `lifted`: other pages may show it in a dialog. */
export function LegalText(props: {
  text: LegalTextProps;
  below?: string;
  /** Below its title: what the reader is asked, in the language of the page. */
  asks?: ReactNode;
  summary?: LegalTextProps | undefined;
  numbered?: boolean;
  lifted?: boolean;
}) {
  const { text, below, asks, summary, numbered, lifted } = props;
  return (
    <article className="prose" lang={text.lang} data-lift={lifted ? '' : undefined}>
      <h1>{text.title}</h1>
      {below !== undefined && <p className="muted">{below}</p>}
      {asks}
      {summary && <Summary text={summary} />}
      <Markdown className="lead" html={text.intro} />
      <ol className={numbered ? 'sections numbered' : 'sections'}>
        {text.sections.map(({ title, body }) => (
          <li key={title}>
            <h2>{title}</h2>
            <Markdown html={body} />
          </li>
        ))}
      </ol>
    </article>
  );
}
