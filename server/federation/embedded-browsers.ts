/**
 * Browsers that stand inside another app: Google and Facebook answer them with an error of their own, because the app could
 * read along. There is no header for it, only what these browsers say of themselves:
 * Android's WebView `; wv)`, on iOS one that does not call itself Safari, and the apps that name themselves.
 */
const signs = [
  /; wv\)/,
  /^(?=.*\b(?:iPhone|iPad|iPod)\b)(?=.*AppleWebKit)(?!.*Safari\/)/,
  /\bFB(?:AN|AV|_IAB)\b|\bFBIOS\b/,
  /\b(?:Instagram|Barcelona|MicroMessenger|LinkedInApp|Snapchat|Pinterest|BytedanceWebview|musical_ly|TikTok)\b|\bLine\//,
  /\bTwitter for (?:iPhone|iPad|Android)\b/,
];

/** @param userAgent as the browser sent it; a browser that hides what it is counts as a browser */
export function isEmbeddedBrowser(userAgent: string | undefined): boolean {
  const claims = userAgent?.slice(0, 1_000) ?? '';
  return signs.some((sign) => sign.test(claims));
}
