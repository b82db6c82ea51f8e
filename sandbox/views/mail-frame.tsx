/** A mail as its recipient sees it: a separate document without scripts, forms or external resources. */
export function MailFrame({ src, title }: { src: string; title: string }) {
  return (
    <iframe
      className="mail-frame"
      src={src}
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      loading="lazy"
    />
  );
}
