// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "render/image.h"

enum { DOTS_WIDE = 5, DOTS_HIGH = 7, DOT_STEP = 6, MARGIN = 3 };

// Rows from the top, the leftmost dot is 16.
static const uint8_t digits[10][DOTS_HIGH] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},  {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2}, {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},   {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},
};

static uint8_t* pixel(ty_image* image, int x, int y)
{
    bool inside = x >= 0 && y >= 0 && x < image->width && y < image->height;
    return inside ? image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x) : NULL;
}

// Every pixel of the rectangle becomes pixel * keep / 4 + add.
static void fill(ty_image* image, int x0, int y0, int width, int height, int keep, int add)
{
    for (int y = y0; y < y0 + height; ++y)
        for (int x = x0; x < x0 + width; ++x) {
            uint8_t* p = pixel(image, x, y);
            for (int c = 0; p && c < 3; ++c) p[c] = (uint8_t)(p[c] * keep / 4 + add);
        }
}

void ty_image_number(ty_image* image, int number, int scale)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%04d", number < 0 ? -number : number);
    int width = (n * DOT_STEP - 1 + 2 * MARGIN) * scale, height = (DOTS_HIGH + 2 * MARGIN) * scale;
    int top = image->height - height;
    fill(image, 0, top, width, height, 1, 0);
    for (int i = 0; i < n; ++i)
        for (int row = 0; row < DOTS_HIGH; ++row)
            for (int column = 0; column < DOTS_WIDE; ++column)
                if (digits[text[i] - '0'][row] >> (DOTS_WIDE - 1 - column) & 1)
                    fill(image, (MARGIN + i * DOT_STEP + column) * scale,
                         top + (MARGIN + row) * scale, scale, scale, 0, 235);
}

// The mean of the pixels of `from` that the pixel (x, y) of a width x height copy covers.
static void mean_pixel(const ty_image* from, int x, int y, int width, int height, uint8_t out[3])
{
    int64_t x0 = (int64_t)x * from->width / width, x1 = (int64_t)(x + 1) * from->width / width;
    int64_t y0 = (int64_t)y * from->height / height, y1 = (int64_t)(y + 1) * from->height / height;
    x1 += x1 == x0;
    y1 += y1 == y0;
    int64_t sum[3] = {0}, count = (x1 - x0) * (y1 - y0);
    for (int64_t j = y0; j < y1; ++j)
        for (int64_t i = x0; i < x1; ++i)
            for (int c = 0; c < 3; ++c) sum[c] += from->rgb[3 * (j * from->width + i) + c];
    for (int c = 0; c < 3; ++c) out[c] = (uint8_t)((sum[c] + count / 2) / count);
}

void ty_image_place(ty_image* to, const ty_image* from, int x, int y, int width, int height)
{
    for (int j = 0; j < height; ++j)
        for (int i = 0; i < width; ++i) {
            uint8_t* p = pixel(to, x + i, y + j);
            if (p) mean_pixel(from, i, j, width, height, p);
        }
}
