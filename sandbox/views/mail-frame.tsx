/** Above and below a mail; what a line of its text takes as HTML, with the space around it; characters of a line. */
const framePx = 20;
const linePx = 48;
const lineLength = 62;

/** The height of a mail by its text: no script can measure a document of another origin. */
const estimateHeight = (text: string): number =>
  framePx + linePx * text.split('\n').reduce((lines, line) => lines + Math.ceil(line.length / lineLength), 0);

/** A mail as its recipient sees it: a separate document without scripts, forms or external resources. */
export function MailFrame({ src, title, text }: { src: string; title: string; text: string }) {
  return (
    <iframe
      className="mail-frame"
      src={src}
      title={title}
      height={estimateHeight(text)}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      loading="lazy"
    />
  );
}
