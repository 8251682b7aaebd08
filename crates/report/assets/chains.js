"use strict";

/**
 * The chain of nodes that a shape comes from, as `gradus infer --why` prints it.
 *
 * @typedef {{depth: number, value: number, isAgain: boolean, reasons: string[]}} Link
 */

/**
 * Returns the values that the shape of a value comes from, each before those that it is made of, and
 * whether there are more than are asked for. A value is followed once, and not behind elements that
 * are numbers.
 * @param {number} value
 * @param {number} most lines, of which a reason is one
 * @param {{inputsOf: (value: number) => (number | null)[], reasonsOf: (value: number) => string[]}} model
 * @returns {{links: Link[], hasMore: boolean}}
 */
function chainOf(value, most, { inputsOf, reasonsOf }) {
  /** @type {Link[]} */
  const links = [];
  const seen = new Set();
  const open = [{ value, depth: 0 }];
  let lines = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const isAgain = seen.has(next.value);
    seen.add(next.value);
    const reasons = isAgain ? [] : reasonsOf(next.value);
    links.push({ ...next, isAgain, reasons });
    lines += 1 + reasons.length;
    if (lines >= most) return { links, hasMore: true };
    if (isAgain) continue;
    for (const input of inputsOf(next.value).slice().reverse()) {
      if (input !== null) open.push({ value: input, depth: next.depth + 1 });
    }
  }
  return { links, hasMore: false };
}
