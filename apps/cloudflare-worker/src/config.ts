/** What the Worker is given; see wrangler.jsonc. */
export interface Env {
  /** REST URLs of the independent Upstash databases that vote, with commas between them. */
  readonly UPSTASH_URLS?: string;
  /** Their tokens, in the same order. A secret. */
  readonly UPSTASH_TOKENS?: string;
  /** Gets each webhook, once. */
  readonly TARGET_URL?: string;
}

export interface Config {
  readonly databases: readonly { readonly url: string; readonly token: string }[];
  readonly targetUrl: string;
}

/** What is wrong with the configuration, in one line for each fault. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(faults: readonly string[]) {
    super(`the configuration cannot be used:\n${faults.map((fault) => `  - ${fault}`).join("\n")}`);
  }
}

/** @throws ConfigError that names every variable that is missing or wrong, but no value of one. */
export function readConfig({ UPSTASH_URLS, UPSTASH_TOKENS, TARGET_URL = "" }: Env): Config {
  const [urls, tokens] = [listed(UPSTASH_URLS), listed(UPSTASH_TOKENS)];
  const faults: string[] = [];
  if (urls.length === 0) faults.push("UPSTASH_URLS is missing: the databases' URLs, with commas");
  urls.forEach((url, index) => {
    if (!isHttpUrl(url)) faults.push(`UPSTASH_URLS: number ${index + 1} is no https:// URL`);
  });
  if (tokens.length === 0) {
    faults.push("UPSTASH_TOKENS is missing: the databases' tokens, in the order of the URLs");
  } else if (tokens.length !== urls.length) {
    faults.push(`UPSTASH_TOKENS has ${tokens.length} tokens for ${urls.length} URLs`);
  }
  if (!isHttpUrl(TARGET_URL)) faults.push("TARGET_URL is missing, or no https:// URL");
  if (faults.length > 0) throw new ConfigError(faults);
  const databases = urls.map((url, index) => ({ url, token: tokens[index] as string }));
  return { databases, targetUrl: TARGET_URL };
}

const listed = (text = ""): string[] => text.split(",").flatMap((part) => part.trim() || []);

function isHttpUrl(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
