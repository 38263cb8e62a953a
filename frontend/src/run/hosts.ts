// Hosts for people: a name in punycode beside what it looks like.

export interface HostForms {
  /** As it is asked for: lower-case ASCII, with a port that is not the usual one. */
  ascii: string;
  /** As it is meant to be read; the same where the name is ASCII. */
  unicode: string;
}

/** null where the text is no web address. */
export function hostForms(url: string): HostForms | null {
  try {
    return formsOf(new URL(url).host);
  } catch {
    return null;
  }
}

/** Of a host that stands alone; one that cannot be read is shown as it came. */
export function formsOf(host: string): HostForms {
  const ascii = asciiOf(host);
  return { ascii, unicode: ascii.split(".").map(labelToUnicode).join(".") };
}

function asciiOf(host: string): string {
  try {
    return new URL(`http://${host}/`).host;
  } catch {
    return host;
  }
}

function labelToUnicode(label: string): string {
  if (!label.startsWith("xn--")) return label;
  return decodePunycode(label.slice(4)) ?? label;
}

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;

/** Source: RFC 3492, section 6.2. null: it is no punycode. */
export function decodePunycode(text: string): string | null {
  const split = text.lastIndexOf("-");
  const output = [...text.slice(0, Math.max(0, split))].map((char) => char.codePointAt(0) ?? 0);
  let code = 128;
  let index = 0;
  let bias = 72;
  for (let at = split + 1; at < text.length; ) {
    const before = index;
    for (let weight = 1, k = BASE; ; k += BASE) {
      const digit = digitOf(text.charCodeAt(at++));
      if (digit === null) return null;
      index += digit * weight;
      const threshold = Math.min(T_MAX, Math.max(T_MIN, k - bias));
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = output.length + 1;
    bias = adapt(index - before, length, before === 0);
    code += Math.floor(index / length);
    index %= length;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return null;
    output.splice(index++, 0, code);
  }
  return String.fromCodePoint(...output);
}

function digitOf(char: number): number | null {
  if (char >= 48 && char <= 57) return char - 22;
  const letter = (char | 32) - 97;
  return letter >= 0 && letter < 26 ? letter : null;
}

function adapt(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
