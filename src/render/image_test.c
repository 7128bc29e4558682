// SPDX-License-Identifier: Apache-2.0
#include "render/image.h"

#include <string.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/memory.h"
#include "format/file.h"
#include "program.h"

static void fill_with_noise(ty_image* image)
{
    for (int64_t i = 0; i < (int64_t)image->width * image->height * 3; ++i)
        image->rgb[i] = (uint8_t)ty_mix2((uint64_t)i, 5);
}

static void a_png_has_the_same_pixels_when_it_is_read_back(void** state)
{
    (void)state;
    char path[900];
    snprintf(path, sizeof path, "%s/a.png", test_folder("png"));
    ty_image image = {0}, back = {0};
    assert_ok(ty_image_resize(&image, 37, 23));
    fill_with_noise(&image);
    assert_ok(ty_png_write(&image, path, "0123abcd"));
    assert_ok(ty_png_read(&back, path));
    assert_int_equal(back.width, 37);
    assert_int_equal(back.height, 23);
    assert_memory_equal(image.rgb, back.rgb, 37 * 23 * 3);
    assert_true(ty_png_has_key(path, "0123abcd"));
    assert_false(ty_png_has_key(path, "0123abce"));
    assert_false(ty_png_has_key(path, "0123abc"));
    assert_false(ty_png_has_key("/nowhere/a.png", "0123abcd"));
    ty_image_free(&image);
    ty_image_free(&back);
}

static void damaged_pictures_are_refused(void** state)
{
    (void)state;
    char path[900];
    unsigned char* bytes;
    int64_t n;
    snprintf(path, sizeof path, "%s/a.png", test_folder("png-damaged"));
    ty_image image = {0};
    assert_ok(ty_image_resize(&image, 16, 16));
    fill_with_noise(&image);
    assert_ok(ty_png_write(&image, path, "key"));
    assert_ok(ty_file_read(path, 1 << 20, &bytes, &n));
    for (int64_t length = 0; length < n - 13;
         length += 41) {    // without the last chunk nothing is lost
        assert_ok(ty_file_write(path, bytes, length));
        assert_code(ty_png_read(&image, path), TY_BAD_INPUT);
        assert_null(image.rgb);
    }
    ty_free(bytes);
    assert_code(ty_image_resize(&image, 0, 5), TY_BAD_INPUT);
    assert_code(ty_image_resize(&image, 5, TY_MAX_PICTURE_SIDE + 1), TY_BAD_INPUT);
    ty_image_free(&image);
}

// Counts white pixels of a number on a black picture.
static int white_dots(int number)
{
    ty_image image = {0};
    assert_ok(ty_image_resize(&image, 100, 40));
    ty_image_number(&image, number, 1);
    int n = 0;
    for (int i = 0; i < 100 * 40; ++i) {
        n += image.rgb[3 * i] > 200;
        if (i / 100 < 40 - 13) assert_int_equal(image.rgb[3 * i], 0);
    }
    ty_image_free(&image);
    return n;
}

static void numbers_are_drawn_in_the_corner(void** state)
{
    (void)state;
    // Dots of the digits 0 .. 9 in a font of 5 x 7.
    const int dots[10] = {19, 10, 14, 14, 14, 17, 15, 11, 17, 15};
    assert_int_equal(white_dots(1234), dots[1] + dots[2] + dots[3] + dots[4]);
    assert_int_equal(white_dots(5678), dots[5] + dots[6] + dots[7] + dots[8]);
    assert_int_equal(white_dots(9), 3 * dots[0] + dots[9]);
}

static void a_smaller_copy_has_the_mean(void** state)
{
    (void)state;
    ty_image from = {0}, to = {0};
    assert_ok(ty_image_resize(&from, 4, 2));
    assert_ok(ty_image_resize(&to, 3, 2));
    for (int i = 0; i < 8 * 3; ++i) from.rgb[i] = (uint8_t)(10 * (i / 3));
    ty_image_place(&to, &from, 1, 1, 2, 1);
    assert_int_equal(to.rgb[3 * (1 * 3 + 1)], (0 + 10 + 40 + 50) / 4);
    assert_int_equal(to.rgb[3 * (1 * 3 + 2)], (20 + 30 + 60 + 70) / 4);
    for (int i = 0; i < 4 * 3; ++i) assert_int_equal(to.rgb[i], 0);
    ty_image_free(&from);
    ty_image_free(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_png_has_the_same_pixels_when_it_is_read_back),
        cmocka_unit_test(damaged_pictures_are_refused),
        cmocka_unit_test(numbers_are_drawn_in_the_corner),
        cmocka_unit_test(a_smaller_copy_has_the_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
