/** A mail as its recipient sees it: a document of its own without scripts, forms or anything from elsewhere. */
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
