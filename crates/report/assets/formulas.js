"use strict";

/**
 * Formulas of a report. A table has each expression once; operands are indices of earlier entries:
 *
 *   7, "9007199254740993"   a number
 *   ["s", i]                symbol i
 *   ["/", a, b]             the floor of a quotient
 *   ["min", a, …]           the minimum
 *   ["max", a, …]           the maximum
 *   ["b", a, b]             a broadcast: b if a is 1, otherwise a
 *   ["+", [c, a, …], …]     a sum of products with coefficients
 *
 * @typedef {number | string | [string, ...(number | (number | string)[])[]]} Entry
 */

/**
 * Returns the floor of a quotient, or null if the divisor is zero.
 * @param {bigint} a
 * @param {bigint} b
 * @returns {bigint | null}
 */
function floorDivide(a, b) {
  if (b === 0n) return null;
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/**
 * Evaluates one entry, given the values of those before it.
 * @param {Entry} entry
 * @param {(bigint | null)[]} values
 * @param {(bigint | null)[]} sizes of the symbols
 * @returns {bigint | null}
 */
function evaluateEntry(entry, values, sizes) {
  if (!Array.isArray(entry)) return BigInt(entry);
  const form = entry[0];
  if (form === "s") return sizes[Number(entry[1])];
  if (form === "+") {
    let total = 0n;
    for (let i = 1; i < entry.length; i += 1) {
      const product = /** @type {(number | string)[]} */ (/** @type {unknown} */ (entry[i]));
      let value = BigInt(product[0]);
      for (let j = 1; j < product.length; j += 1) {
        const factor = values[Number(product[j])];
        if (factor === null) return null;
        value *= factor;
      }
      total += value;
    }
    return total;
  }
  /** @type {bigint[]} */
  const operands = [];
  for (let i = 1; i < entry.length; i += 1) {
    const value = values[Number(entry[i])];
    // The second operand of a broadcast counts only where the first is 1.
    if (value === null && !(form === "b" && i === 2 && operands[0] !== 1n)) return null;
    operands.push(value === null ? 0n : value);
  }
  switch (form) {
    case "/":
      return floorDivide(operands[0], operands[1]);
    case "min":
      return operands.reduce((a, b) => (a < b ? a : b));
    case "max":
      return operands.reduce((a, b) => (a > b ? a : b));
    case "b":
      return operands[0] === 1n ? operands[1] : operands[0];
    default:
      throw new Error(`unknown form ${String(form)}`);
  }
}

/**
 * Evaluates a table. A formula has no value, null, where it divides by zero or where a symbol of it
 * has none.
 * @param {Entry[]} table
 * @param {(bigint | null)[]} sizes of the symbols
 * @returns {(bigint | null)[]}
 */
function evaluate(table, sizes) {
  /** @type {(bigint | null)[]} */
  const values = new Array(table.length);
  for (let i = 0; i < table.length; i += 1) values[i] = evaluateEntry(table[i], values, sizes);
  return values;
}
