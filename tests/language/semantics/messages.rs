//! The types `Message`, `Role` and `Image`: what texts show of them.

cases! { "messages.cases":
    texts_show_messages_one_a_line_and_images_by_their_url
    messages_come_with_events_and_grow
    an_own_type_hides_that_of_the_language
}
