"use strict";

/**
 * Rectangles whose areas are in proportion to numbers.
 *
 * @typedef {{left: number, top: number, width: number, height: number}} Rectangle
 */

/**
 * Fills a rectangle with one for each number, in their order, from the largest on. Rows and columns
 * take as many as bring the longest of them nearest to a square.
 * @param {number[]} sizes in falling order, none of them negative
 * @param {Rectangle} whole
 * @returns {Rectangle[]}
 */
function treemap(sizes, whole) {
  /** @type {Rectangle[]} */
  const found = [];
  let { left, top, width, height } = whole;
  let total = sizes.reduce((sum, size) => sum + size, 0);
  for (let first = 0; first < sizes.length; ) {
    const side = Math.min(width, height);
    const scale = total > 0 ? (width * height) / total : 0;
    // The worst ratio of sides in a row of some sizes with that sum.
    const worst = (/** @type {number} */ sum, /** @type {number} */ largest, /** @type {number} */ smallest) =>
      Math.max((side * side * largest) / (sum * sum * scale), (sum * sum * scale) / (side * side * smallest));
    let [end, sum] = [first + 1, sizes[first]];
    while (end < sizes.length && sizes[end] > 0) {
      const more = sum + sizes[end];
      if (worst(more, sizes[first], sizes[end]) > worst(sum, sizes[first], sizes[end - 1])) break;
      [end, sum] = [end + 1, more];
    }
    const isColumn = width >= height;
    const breadth = side > 0 ? (sum * scale) / side : 0;
    let offset = 0;
    for (; first < end; first += 1) {
      const length = sum > 0 ? (side * sizes[first]) / sum : 0;
      found.push(
        isColumn
          ? { left, top: top + offset, width: breadth, height: length }
          : { left: left + offset, top, width: length, height: breadth },
      );
      offset += length;
    }
    total -= sum;
    if (isColumn) [left, width] = [left + breadth, Math.max(0, width - breadth)];
    else [top, height] = [top + breadth, Math.max(0, height - breadth)];
  }
  return found;
}
