/** HTML from an operator's Markdown, rendered by the server without embedded HTML. */
export function Markdown({ html, className }: { html: string; className?: string }) {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: made by server/sign-in/markdown.ts, which lets no HTML of the file through
  return <div className={className} dangerouslySetInnerHTML={{ __html: html }} />;
}
